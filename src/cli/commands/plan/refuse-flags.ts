/** Refuses flags of `sluice plan` that have no effect together: a plan, a comparison and a forecast have their own. */
import { flagConflict, flagRequires } from '../../command.ts';

/** The values of the flags by name, and the names of syncs. */
export type PlanFlags = Readonly<Record<string, unknown>> & { readonly names: readonly string[] };

/** The flags of each mode that is no plan, with the one that selects the mode first. */
const MODES: readonly (readonly [string, ...string[]])[] = [['against', 'fail-above', 'markdown'], ['for'], ['until']];

const PLAN_FLAGS: readonly string[] = ['refresh', 'failed', 'from', 'to', 'limit', 'explain', 'output'];

/** Throws a UsageError for flags that have no effect together. */
export function refuseFlags(flags: PlanFlags): void {
  const isGiven = (name: string): boolean => flags[name] !== undefined && flags[name] !== false;
  const shown = (name: string): string => (name === 'names' ? 'names of syncs' : `--${name}`);
  const written = [...PLAN_FLAGS, ...MODES.flat()].filter(isGiven);
  const given = flags.names.length > 0 ? [...written, 'names'] : written;
  const allowed = MODES.find(([first]) => isGiven(first));
  if (!allowed) {
    const alone = written.find((name) => !PLAN_FLAGS.includes(name));
    if (alone !== undefined) throw flagRequires('plan', shown(alone), '--against', 'Add --against OTHER.');
    if (isGiven('failed') && isGiven('output'))
      throw flagConflict('plan', ['--failed', '--output'], {
        because: 'a saved plan contains all inputs of its syncs',
      });
    if (isGiven('explain') && isGiven('output')) throw flagConflict('plan', ['--explain', '--output']);
    return;
  }
  const [first, ...others] = allowed;
  const wrong = given.filter((name) => !allowed.includes(name));
  if (wrong.length === 0) return;
  throw flagConflict('plan', [wrong.map(shown).join(', '), shown(first)], {
    ...(others.length > 0 && { because: `allowed with it are ${others.map(shown).join(' and ')}` }),
    next: `Leave one of them out; ${shown(first)} covers all syncs.`,
  });
}
