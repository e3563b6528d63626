/** The size of the sandbox's world. */
import { UsageError } from '../../errors.ts';

export interface Size {
  /** Filings until the end of 2025, with one to five documents each. */
  readonly filings: number;
  readonly people: number;
  /** Companies that make filings and have employees. */
  readonly companies: number;
  readonly groups: number;
  /** Posts that are not reposts. */
  readonly posts: number;
  readonly microblogUsers: number;
  readonly photoshareUsers: number;
  /** Web pages, ten per site. */
  readonly pages: number;
}

export type SizeName = 'demo' | 'small' | 'large';

const SIZES: Readonly<Record<SizeName, Size>> = {
  demo: {
    filings: 50_000,
    people: 5_000,
    companies: 300,
    groups: 60,
    posts: 2_000,
    microblogUsers: 300,
    photoshareUsers: 300,
    pages: 500,
  },
  small: {
    filings: 200_000,
    people: 20_000,
    companies: 1_500,
    groups: 300,
    posts: 10_000,
    microblogUsers: 2_000,
    photoshareUsers: 2_000,
    pages: 2_000,
  },
  large: {
    filings: 1_000_000,
    people: 100_000,
    companies: 8_000,
    groups: 2_000,
    posts: 100_000,
    microblogUsers: 50_000,
    photoshareUsers: 50_000,
    pages: 20_000,
  },
};

/** Minimum numbers, so that the well-known entities are not the only ones. */
const LEAST: Size = {
  filings: 500,
  people: 200,
  companies: 40,
  groups: 3,
  posts: 3,
  microblogUsers: 8,
  photoshareUsers: 8,
  pages: 30,
};

/** The maximum number per kind that ids and draws support. */
const MOST = 10_000_000;

/**
 * The size of a name or of numbers. Omitted numbers are those of the demo, and numbers below the minimum are raised to
 * it.
 */
export function sizeOf(given: SizeName | Partial<Size> = 'demo'): Size {
  if (typeof given === 'string') return named(given);
  const size = { ...SIZES.demo };
  for (const [kind, many] of Object.entries(given)) {
    if (!isKind(kind)) {
      throw new UsageError(`The sandbox has no ${JSON.stringify(kind)}; sizes are ${Object.keys(LEAST).join(', ')}.`);
    }
    if (!Number.isInteger(many) || many < 0 || many > MOST) {
      throw new UsageError(`The size ${kind}=${String(many)} is not a whole number from 0 to ${MOST}.`);
    }
    size[kind] = Math.max(many, LEAST[kind]);
  }
  return size;
}

function named(name: string): Size {
  if (Object.hasOwn(SIZES, name)) return SIZES[name as SizeName];
  throw new UsageError(`The sandbox has no size ${JSON.stringify(name)}; sizes are ${Object.keys(SIZES).join(', ')}.`);
}

const isKind = (kind: string): kind is keyof Size => Object.hasOwn(LEAST, kind);
