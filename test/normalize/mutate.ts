/** Answers in which anything may have gone wrong, drawn from a seed: on the way as bytes, or at the source as JSON. */

/** Numbers in [0, 1) that are the same for the same seed. */
export function drawsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Draw = () => number;

const below = (draw: Draw, end: number): number => Math.floor(draw() * end);
const oneOf = <T>(draw: Draw, choices: readonly T[]): T => choices[below(draw, choices.length)] as T;

/** Values of every type and of none, at the edges of what columns and JSON can hold. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.1,
  1e21,
  2 ** 53,
  Number.MAX_VALUE,
  '',
  ' ',
  'true',
  '007',
  '1e400',
  '2024-02-30',
  '\0',
  '\ud800',
  '\u202e\u001b[31m',
  '\\N',
  "');drop table x;--",
  'x'.repeat(3000),
  [],
  {},
  [null],
  [[]],
  { type: null, value: {} },
  { '@type': 7 },
  JSON.parse('{"__proto__":{"polluted":1}}') as unknown,
  Array.from({ length: 30 }).reduce<unknown>((inner) => [inner], 'deep'),
];

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== 'object') return [path];
  const inner = Array.isArray(value) ? value.map((it, index) => [index, it] as const) : Object.entries(value);
  return [path, ...inner.flatMap(([name, it]) => pathsOf(it, [...path, name]))];
}

/** What becomes of the entry of a list or an object: none, one or several in its place. */
type Change = (key: string, value: unknown) => readonly (readonly [string, unknown])[];

function changed(value: unknown, [step, ...rest]: Path, change: Change): unknown {
  if (step === undefined || value === null || typeof value !== 'object') return value;
  const entries = (key: string, inner: unknown) =>
    key !== String(step)
      ? [[key, inner] as const]
      : rest.length === 0
        ? change(key, inner)
        : [[key, changed(inner, rest, change)] as const];
  if (Array.isArray(value)) return value.flatMap((it, index) => entries(String(index), it).map(([, inner]) => inner));
  const pairs = Object.entries(value).flatMap(([key, inner]) => entries(key, inner));
  return Object.fromEntries(pairs);
}

function changeOf(draw: Draw): Change {
  const strange = oneOf(draw, STRANGE);
  return oneOf<Change>(draw, [
    (key) => [[key, strange]],
    (key) => [[key, strange]],
    () => [],
    (key, value) => [[`${key}_${below(draw, 9)}`, value]],
    (key, value) => [[key.toUpperCase(), value]],
    (key, value) => [[key, [value]]],
    (key, value) => [[key, { data: value }]],
    (key, value) => [[key, JSON.stringify(value)]],
    (key, value) => [
      [key, value],
      [`${key} again`, value],
    ],
    (key, value) => [[key, typeof value === 'number' ? String(value) : Number(value)]],
  ]);
}

/** The text of JSON whose values were changed in up to four places. */
function misstated(value: unknown, draw: Draw): string {
  let items = value;
  for (let times = 1 + below(draw, 4); times > 0; times -= 1)
    items = changed(items, oneOf(draw, pathsOf(items)), changeOf(draw));
  return JSON.stringify(items) ?? '';
}

/** The bytes after something happened to them on their way. */
function garbled(bytes: Buffer, draw: Draw): Buffer {
  const at = below(draw, bytes.length + 1);
  const to = at + below(draw, 40);
  return oneOf<() => Buffer>(draw, [
    () => bytes.subarray(0, at),
    () => bytes.subarray(at),
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]),
    () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), Buffer.from([below(draw, 256)]), bytes.subarray(at)]),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.from(bytes.toString(), 'utf16le'),
    ...Array.from({ length: 4 }, () => () => {
      const flipped = Buffer.from(bytes);
      for (let times = 1 + below(draw, 8); times > 0; times -= 1) {
        const place = below(draw, flipped.length);
        flipped[place] = (flipped[place] ?? 0) ^ (1 << below(draw, 8));
      }
      return flipped;
    }),
  ])();
}

/** The body of an answer made of these items, with something wrong with it. */
export function mutatedBody(items: unknown, draw: Draw): Buffer {
  const kind = draw();
  if (kind < 0.6) return Buffer.from(misstated(items, draw));
  if (kind < 0.7) return garbled(Buffer.from(misstated(items, draw)), draw);
  return garbled(Buffer.from(JSON.stringify(items)), draw);
}
