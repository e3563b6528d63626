/** Tags of syncs, such as `team: growth`: costs are added up by them, and budgets may limit them. */
import * as z from 'zod';

/** Values by the names of tags. */
export type Tags = Readonly<Record<string, string>>;

// Names and values become labels, file names and parts of commands.
const NAME = 'allowed as the name of a tag are at most 63 lower-case letters, digits and _, beginning with a letter';
const VALUE =
  'allowed as the value of a tag are at most 63 letters, digits, _, . and -, beginning with a letter or digit';
const MOST_TAGS = 8;

export const tagName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, NAME);
export const tagValue = z.string({ error: VALUE }).regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, VALUE);

export const tags = z
  .record(tagName, tagValue)
  .refine((all) => Object.keys(all).length <= MOST_TAGS, `allowed are at most ${MOST_TAGS} tags`);

/** A tag with a value. */
export interface Tag {
  readonly tag: string;
  readonly value: string;
}

/** The tags that a config names, of syncs and of budgets; a tag can be in the list more than once. */
export const declaredTags = ({
  syncs,
  budget,
}: {
  readonly syncs: readonly { readonly tags: Tags }[];
  readonly budget: { readonly tags?: readonly Tag[] };
}): readonly Tag[] => [
  ...syncs.flatMap(({ tags: own }) => Object.entries(own).map(([tag, value]) => ({ tag, value }))),
  ...(budget.tags ?? []),
];
