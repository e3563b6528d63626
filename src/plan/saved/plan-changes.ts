/** Compares a saved plan with the plan of this moment, and says what moved. Pure. */
import { isSameSet, onlyIn, type RequestSetSummary } from './request-set.ts';
import type { SavedPlan, SavedSync } from './saved-plan.ts';

/** Requests that a message names. */
const NAMED = 3;

/** Returns what moved since the plan was saved, one line for each part; empty if nothing did. */
export function planChanges(saved: SavedPlan, current: SavedPlan): readonly string[] {
  const now = new Map(current.syncs.map((it) => [it.sync, it]));
  const leftOut = new Map(current.leftOut.map((it) => [it.sync, it.because]));
  return [
    ...(saved.service === current.service ? [] : ['service: the config names another address']),
    ...(saved.warehouse === current.warehouse ? [] : ['warehouse: the config names another database or schema']),
    ...saved.syncs.flatMap((sync) => {
      const found = now.get(sync.sync);
      if (found) return syncChanges(sync, found);
      return [`${sync.sync}: ${leftOut.get(sync.sync) ?? 'the config has no such sync'}`];
    }),
  ];
}

function syncChanges(saved: SavedSync, current: SavedSync): readonly string[] {
  const named = (lines: readonly string[]): string[] => lines.map((it) => `${saved.sync}: ${it}`);
  if (saved.lastRun !== current.lastRun)
    return named([
      `runs: the newest was ${saved.lastRun ?? 'none'} and is now ${current.lastRun ?? 'none'}; a plan is run once`,
    ]);
  const definition = saved.definition === current.definition ? [] : ['definition: the config changed'];
  const day =
    saved.today === current.today
      ? []
      : [
          `day: the plan requests days up to ${saved.today ?? 'none'}, and today is ${current.today ?? 'not requested'}`,
        ];
  const inputs = setChange('inputs', saved.requests, current.requests);
  // Other inputs change what is sent and what it costs.
  const sent = inputs.length > 0 ? [] : setChange('requests to send', saved.toSend, current.toSend);
  const open = saved.continues === current.continues ? [] : ['runs: a stopped run was continued or has expired'];
  const isPriceSame =
    saved.prices === current.prices && (inputs.length + sent.length > 0 || saved.most === current.most);
  const prices = isPriceSame
    ? []
    : [`prices: the plan costs ${costOf(current)} at the prices of now, and ${costOf(saved)} when it was made`];
  return named([...definition, ...day, ...open, ...inputs, ...sent, ...prices]);
}

const costOf = ({ likely, most }: SavedSync): string => `${likely} to ${most} points`;

/** Describes how a set of requests differs, with examples; empty if it does not. */
function setChange(what: string, before: RequestSetSummary, after: RequestSetSummary): string[] {
  if (isSameSet(before, after)) return [];
  const [added, removed] = [onlyIn(after, before), onlyIn(before, after)];
  const counts = `${before.count} planned, ${after.count} now`;
  return [[`${what}: ${counts}`, ...examples('added', added), ...examples('removed', removed)].join('; ')];
}

const examples = (what: string, texts: readonly string[]): string[] =>
  texts.length === 0
    ? []
    : [
        `${what}: ${texts.slice(0, NAMED).join(', ')}${texts.length > NAMED ? ` and ${texts.length - NAMED} more` : ''}`,
      ];
