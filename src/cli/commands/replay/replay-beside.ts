/** `sluice replay --as-of` and `--drop`: tables as of an earlier time, beside the present ones. */
import { DAY_MS, onCalendar } from '../../../day.ts';
import { EXIT, UsageError } from '../../../errors.ts';
import { asOfSchemas, dropAsOfSchema } from '../../../flow/as-of/schema.ts';
import { type AsOfSummary, loadAsOf } from '../../../flow/as-of/load-as-of.ts';
import { microsOf } from '../../../service/instant.ts';
import type { Warehouse } from '../../../warehouse/connect/connect.ts';
import type { Context } from '../../context.ts';
import { hasSchema, readConfig, withWarehouse } from '../../open.ts';
import { withNoun } from '../../terminal/print.ts';
import { show } from '../../terminal/show.ts';
import { withAnswerProgress } from '../../terminal/with-progress.ts';
import { flagRequires } from '../../command.ts';

/** The arguments of the command. */
export interface BesideArguments {
  readonly names: readonly string[];
  readonly rebuild: boolean;
  readonly asOf: string | undefined;
  readonly schema: string | undefined;
  readonly drop: string | undefined;
}

/** Creates or drops the tables; returns the exit code. */
export async function replayBeside(
  context: Context,
  configFlag: string | undefined,
  given: BesideArguments,
): Promise<number> {
  const { asOf, schema, drop } = given;
  refuseOthers(given);
  const until = asOf === undefined ? undefined : instantOfText(asOf);
  const config = await readConfig(context, configFlag);
  return withWarehouse(context, config, async (warehouse) => {
    if (!(await hasSchema(warehouse)))
      throw new UsageError('replay: the warehouse is empty, so there is nothing to load.', {
        next: 'Run sluice sync first, or name the warehouse with DATABASE_URL or warehouse.url.',
      });
    if (drop !== undefined || until === undefined) return dropNamed(context, warehouse, drop ?? '');
    const name = schema ?? `sluice_as_of_${until.toISOString().slice(0, 10).replaceAll('-', '_')}`;
    const summary = await withAnswerProgress(context, warehouse, (effects) =>
      loadAsOf(warehouse, { asOf: until, schema: name }, effects, context.signal),
    );
    show(context, 'replay-as-of/1', summary, () => asOfText(summary));
    return summary.left > 0 ? EXIT.transient : EXIT.complete;
  });
}

function refuseOthers({ names, rebuild, asOf, schema, drop }: BesideArguments): void {
  const flags = { '--as-of': asOf, '--schema': schema, '--drop': drop };
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (drop === undefined && asOf === undefined)
    throw flagRequires('replay', '--schema', '--as-of', 'Add --as-of TIME.');
  if (names.length === 0 && !rebuild && (drop === undefined || given.length === 1)) return;
  const others = [...(rebuild ? ['--rebuild'] : []), ...given, ...(names.length > 0 ? ['names'] : [])];
  throw new UsageError(`replay: ${others.join(', ')} cannot be combined`, {
    next: 'Write --as-of TIME with --schema NAME, or --drop NAME alone.',
  });
}

/** The last millisecond of a UTC day, or an instant. */
function instantOfText(text: string): Date {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && onCalendar(text)) return new Date(Date.parse(text) + DAY_MS - 1);
  const micros = microsOf(text);
  if (micros !== undefined) return new Date(Number(micros / 1000n));
  throw new UsageError(
    `replay: --as-of is ${JSON.stringify(text)}; allowed is a day such as 2026-03-05, or an instant such as 2026-03-05T12:00:00Z`,
    { next: 'Set --as-of to a day of the calendar, which means its end in UTC, or to an instant.' },
  );
}

async function dropNamed(context: Context, warehouse: Warehouse, name: string): Promise<number> {
  const known = await asOfSchemas(warehouse);
  if (!known.includes(name))
    throw new UsageError(`replay: --as-of created no schema ${JSON.stringify(name)}, so it is not dropped`, {
      next: known.length === 0 ? 'There is none to drop.' : `Choose one of ${known.join(', ')}.`,
    });
  if (!(await dropAsOfSchema(warehouse, name)))
    throw new UsageError(`replay: the schema ${name} is in use, or other objects depend on it`, {
      next: 'Drop what depends on it or was added to it, then run the command again.',
    });
  show(context, 'replay-drop/1', { dropped: name }, () => `dropped the schema ${name}\n`);
  return EXIT.complete;
}

function asOfText({ answers, asOf, schema, left, written }: AsOfSummary): string {
  if (left > 0) return `stopped: ${withNoun(left, 'answer')} not loaded, and the schema ${schema} was dropped\n`;
  const rows = Object.values(written).reduce((sum, count) => sum + count, 0);
  return `${schema} holds the tables as of ${asOf.toISOString()}: ${withNoun(answers, 'answer')}, ${withNoun(rows, 'row')} written\nnext: sluice query "select * from ${schema}.TABLE", and sluice replay --drop ${schema} when it is no longer needed\n`;
}
