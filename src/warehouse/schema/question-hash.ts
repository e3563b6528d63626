/** Finds slices of the same question by a hash, whatever their days are. An index stores this hash. */
import { catalog } from '../../service/catalog.ts';

/** The day fields of all endpoints. Another one changes the index, so it needs a migration. */
const DAY_FIELDS = [
  ...new Set(catalog.flatMap(({ paging: { days } }) => (days === undefined ? [] : [days.from, days.to]))),
];

/** SQL for the hash of these filters, without their days; `cast` is the type that Postgres adds when it shows an index. */
export const questionHash = (filters: string, cast = ''): string =>
  `jsonb_hash(${[filters, ...DAY_FIELDS.map((field) => `'${field}'${cast}`)].join(' - ')})`;
