/** The JSON objects of answers. */

export type Wire = Record<string, unknown>;
