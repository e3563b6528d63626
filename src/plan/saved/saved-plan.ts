/** The file of a saved plan: its content, and how its text is read. It contains digests and no secrets. */
import * as z from 'zod';
import { UsageError } from '../../errors.ts';
import { SAMPLE } from './request-set.ts';

/** The version of the file. A file of another version is refused. */
export const SAVED_PLAN_VERSION = 1;

const requestSet = z.strictObject({
  count: z.int().min(0),
  digest: z.string(),
  sample: z
    .array(z.tuple([z.string(), z.string()]).readonly())
    .max(SAMPLE)
    .readonly(),
});
const points = z.number().min(0);

const savedSync = z.strictObject({
  sync: z.string(),
  endpoint: z.string(),
  /** Digest of the settings that decide what is requested. */
  definition: z.string(),
  /** The stopped run that the plan continues; null for a new run. */
  continues: z.string().nullable(),
  /** The newest run of the sync when the plan was made; null if it never ran. */
  lastRun: z.string().nullable(),
  /** The UTC day of the plan, if its requests name days up to the present; otherwise null. */
  today: z.string().nullable(),
  /** All requests of the plan, also those that stored answers serve. */
  requests: requestSet,
  /** The requests to send. */
  toSend: requestSet,
  /** Digest of the prices of a call, as far as the request log shows them. */
  prices: z.string(),
  low: points,
  likely: points,
  high: points,
  most: points,
});

const savedPlan = z.strictObject({
  savedPlan: z.literal(SAVED_PLAN_VERSION),
  madeAt: z.iso.datetime(),
  refresh: z.boolean(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  /** Most requests of each sync; null for all. */
  limit: z.int().min(1).nullable(),
  /** Digests of addresses, so that the file shows none. */
  service: z.string(),
  warehouse: z.string(),
  syncs: z.array(savedSync),
  /** Syncs of the plan that a run of it leaves out, with the reason. */
  leftOut: z.array(z.strictObject({ sync: z.string(), because: z.string() })),
  /** The most points that a run of the plan spends. */
  most: points,
});

/** The plan of one sync, as saved. */
export type SavedSync = Readonly<z.infer<typeof savedSync>>;

/** A saved plan. */
export type SavedPlan = Readonly<z.infer<typeof savedPlan>>;

/** Parses the text of the file. Throws a UsageError that says what was found, and what is allowed. */
export function parseSavedPlan(path: string, text: string): SavedPlan {
  const next = 'Make a new plan with sluice plan --output FILE.';
  const refuse = (found: string): UsageError => new UsageError(`${path}: ${found}; nothing was sent`, { next });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('this is not JSON; allowed is a file that sluice plan --output wrote');
  }
  const version: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'savedPlan') : undefined;
  if (version === undefined)
    throw refuse('this is not a saved plan; allowed is a file that sluice plan --output wrote');
  if (version !== SAVED_PLAN_VERSION)
    throw refuse(`the plan has version ${JSON.stringify(version)}; allowed is version ${SAVED_PLAN_VERSION}`);
  const parsed = savedPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(`the plan was changed by hand: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
