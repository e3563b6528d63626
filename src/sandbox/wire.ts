/** What answers are made of before they become JSON. */

export type Wire = Record<string, unknown>;
