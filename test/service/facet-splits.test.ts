/** Parts of a question by forms hold every filing of it, whichever way the service reads forms and their amendments. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { facetSplits } from '../../src/service/window/facet-splits.ts';
import { Mix } from '../../src/service/window/mix.ts';

const FORMS = ['10-K', '10-K/A', '8-K', '8-K/A', '4', '3'];

/** How a service may read a list of forms: whether `10-K` means its amendments, and whether `-10-K` does. */
interface Reading {
  readonly wanted: boolean;
  readonly excluded: boolean;
}

function isShown(form: string, list: readonly string[], { wanted, excluded }: Reading): boolean {
  const means = (entry: string, withAmendments: boolean): boolean =>
    form === entry || (withAmendments && form === `${entry}/A`);
  const named = list.filter((it) => !it.startsWith('-'));
  return (
    (named.length === 0 || named.some((it) => means(it, wanted))) &&
    !list.some((it) => it.startsWith('-') && means(it.slice(1), excluded))
  );
}

/** How many items of each form were seen, and how many one answer and the question hold. */
const estimates = fc.record({
  seen: fc.array(fc.nat(40), { minLength: FORMS.length + 1, maxLength: FORMS.length + 1 }),
  values: fc.subarray(FORMS, { minLength: 2 }),
  predicted: fc.integer({ min: 20, max: 1000 }),
  hasSample: fc.boolean(),
});

it('parts by forms lose no filing and no amendment, and some values share a part', () => {
  let shared = 0;
  fc.assert(
    fc.property(estimates, ({ seen, values, predicted, hasSample }) => {
      const items = [...FORMS, 'S-1'].flatMap((form, index) =>
        Array.from({ length: seen[index] ?? 0 }, () => ({ filing_type: form })),
      );
      const mix = new Mix({ forms: 'filing_type' });
      if (!hasSample) mix.learn(items);
      const sample = hasSample ? items : [];
      const [split] = facetSplits({}, { forms: values }, 'forms', { mix, predicted, count: 100, sample });
      const lists = (split?.requests ?? []).map(({ forms }) => forms as string[]);
      if (lists.some((list) => list.filter((it) => !it.startsWith('-')).length > 1)) shared += 1;
      // A service that shows amendments for their form excludes them with it, or it shows and excludes exact forms alone.
      for (const reading of [
        { wanted: true, excluded: true },
        { wanted: true, excluded: false },
        { wanted: false, excluded: false },
      ])
        for (const form of [...FORMS, 'S-1', 'S-1/A'])
          expect({ form, reading, lists, found: lists.some((list) => isShown(form, list, reading)) }).toMatchObject({
            found: true,
          });
      // A service that excludes more than it shows hides amendments that no value names.
      for (const form of values)
        expect(lists.some((list) => isShown(form, list, { wanted: false, excluded: true }))).toBe(true);
    }),
    { seed: 1, numRuns: 2000 },
  );
  expect(shared).toBeGreaterThan(100);
});
