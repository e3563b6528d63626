/** Proposes settings that would save points, as a patch of the config with a reason for each line. Pure. */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { DAY_MS } from '../../day.ts';
import type { MaxAgeSaving } from '../../insight/cost-sources.ts';
import type { MissingInputs, TuningFacts } from '../../insight/tuning.ts';
import { withNoun, withThousands } from '../terminal/print.ts';
import { savingMaxAge } from './cost-advice.ts';
import type { EndpointPrice } from './prices.ts';

/** A setting of a sync that would save points. */
export interface ProposedChange {
  readonly sync: string;
  /** The keys from the sync to the setting; `for_each` for inputs to remove, which have no value. */
  readonly path: readonly string[];
  readonly value: string | number | null;
  readonly reason: string;
  /** Points that the setting would have saved in all answers so far, and in 30 days at that rate. */
  readonly savedPoints: number;
  readonly savedPointsAMonth: number;
}

/** The facts behind the proposals. */
export interface TuningInput {
  readonly facts: TuningFacts;
  readonly savings: readonly MaxAgeSaving[];
  readonly prices: readonly EndpointPrice[];
}

/** Fewer answers say little about how many items a question has. */
const LEAST_ANSWERS = 5;
/** Room for growth above the most items so far: an answer with as many items as requested counts as truncated. */
const GROWTH = 1.25;

/** The proposals for the syncs of the config, those that save most first. */
export function proposeChanges(config: Pick<Config, 'syncs'>, input: TuningInput): readonly ProposedChange[] {
  const { days } = input.facts;
  const changes = config.syncs.flatMap((sync) => [
    ...largest([ageChange(sync, input), ...sharedChanges(sync, input)]),
    ...countChange(sync, input),
    ...input.facts.missing.filter((it) => it.sync === sync.name).map(missingChange),
  ]);
  return changes
    .map((it) => ({ ...it, savedPointsAMonth: Math.round((it.savedPoints * 30 * 10) / days) / 10 }))
    .toSorted((a, b) => b.savedPoints - a.savedPoints);
}

type Change = Omit<ProposedChange, 'savedPointsAMonth'>;

/** Changes of one setting exclude each other. */
const largest = (changes: readonly (Change | undefined)[]): readonly Change[] =>
  changes
    .filter((it) => it !== undefined)
    .toSorted((a, b) => b.savedPoints - a.savedPoints)
    .slice(0, 1);

function ageChange({ name, maxAgeMs, autoAge }: SyncDefinition, { savings }: TuningInput): Change | undefined {
  // A learned age follows the answers by itself.
  const best = autoAge ? undefined : savingMaxAge(name, maxAgeMs, savings);
  if (!best) return undefined;
  const { maxAgeDays, savedPoints, savedAnswers, lateAnswers } = best;
  const late = lateAnswers === 0 ? 'none' : withThousands(lateAnswers);
  return {
    sync: name,
    path: ['max_age'],
    value: `${maxAgeDays}d`,
    reason: `${late} of the ${withNoun(savedAnswers, 'answer')} that it would not have bought contained anything new`,
    savedPoints,
  };
}

const AGES_DAYS: readonly number[] = [1, 7, 30];

function sharedChanges({ name, maxAgeMs = 0 }: SyncDefinition, { facts }: TuningInput): readonly Change[] {
  return facts.shared.flatMap(({ sync, other, requests, points, days }) => {
    const age = AGES_DAYS.find((it) => it >= days);
    if (sync !== name || age === undefined || age * DAY_MS <= maxAgeMs) return [];
    const reason = `${withNoun(requests, 'request')} had been bought by ${other} at most ${withNoun(Math.ceil(days), 'day')} before`;
    return [{ sync: name, path: ['max_age'], value: `${age}d`, reason, savedPoints: points }];
  });
}

function countChange({ name, endpoint, request }: SyncDefinition, { facts, prices }: TuningInput): readonly Change[] {
  const price = prices.find((it) => it.endpoint === endpoint.name);
  const found = facts.returned.find((it) => it.sync === name && it.requested === request['count']);
  // A price by the items returned does not depend on the number requested.
  if (!found || found.answers < LEAST_ANSWERS || price?.by !== 'asked' || price.per === null || price.points === null)
    return [];
  const unitsOf = (count: number): number => Math.ceil(count / (price.per ?? 1));
  const units = unitsOf(Math.floor(found.most * GROWTH) + 1);
  const savedPoints = (unitsOf(found.requested) - units) * price.points * found.answers;
  if (savedPoints <= 0) return [];
  return [
    {
      sync: name,
      path: ['request', 'count'],
      value: units * price.per,
      reason: `the most items in ${withNoun(found.answers, 'answer')} were ${withThousands(found.most)} of ${withThousands(found.requested)} requested, and the price depends on the number requested`,
      savedPoints,
    },
  ];
}

const missingChange = ({ sync, inputs, examples, points }: MissingInputs): Change => ({
  sync,
  path: ['for_each'],
  value: null,
  reason: `remove ${withNoun(inputs, 'input')} that the service does not know: ${examples.join(', ')}${inputs > examples.length ? ', …' : ''}`,
  savedPoints: points,
});

/** The proposals as a patch of the config: YAML with a comment above each setting. */
export function tuningPatch(changes: readonly ProposedChange[], days: number): string {
  const answers = `the answers of ${withNoun(Math.round(days), 'day')}`;
  if (changes.length === 0) return `# No setting of the config would have saved points in ${answers}.\n`;
  const lines = [`# Proposals from ${answers}. Copy what you want into the config.`, 'syncs:'];
  for (const [sync, ofSync] of Map.groupBy(changes, (it) => it.sync)) {
    lines.push(`  ${sync}:`);
    for (const { path, value, reason, savedPointsAMonth } of ofSync) {
      const saves = `saves ${withNoun(savedPointsAMonth, 'point')} a month`;
      if (value === null) {
        lines.push(`    # ${path.join('.')}: ${reason}; ${saves}`);
        continue;
      }
      const indents = path.map((_, depth) => '  '.repeat(depth + 2));
      lines.push(...path.slice(0, -1).map((key, depth) => `${indents[depth]}${key}:`));
      lines.push(`${indents.at(-1)}# ${reason}; ${saves}`, `${indents.at(-1)}${path.at(-1)}: ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
