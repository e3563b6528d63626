/** The ages of the savings of a max_age, in days. */
export const AGES = [1, 7, 30] as const;
