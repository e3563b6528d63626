/** `sluice quarantine`: lists, shows and reloads the items and answers in quarantine. */
import { EXIT, UsageError } from '../../errors.ts';
import type { QuarantineEntry } from '../../ledger/quarantine.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { asJson } from '../terminal/json.ts';
import { hasSchema, readConfig, withWarehouse, withWarehouseToRead } from '../open.ts';
import { column, fields, tableOf, withNoun } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { replayText, replayWithProgress } from './replay.ts';
import { withRetryable } from '../exit-codes.ts';

/** The greatest number of listed entries, newest first. */
const LISTED = 200;

export const quarantine = command({
  about:
    'List, show or reload the items and answers that Sluice could not load. Needs no token.\n\n' +
    `- list (the default): show the newest ${LISTED} entries with their position and reason.\n` +
    '- show ID: print one entry with the item as the service sent it.\n' +
    '- retry: load the stored answers of open entries again, without requests to the service.\n\n' +
    'A run resolves entries that a later answer to the same request replaced: an unreadable answer by a readable one, an item by a complete answer without rejects.',
  options: configOption,
  positionals: {
    action: { takes: 'optional', choices: ['list', 'show', 'retry'], about: 'The action.' },
    id: { takes: 'optional', about: 'Number of the entry to show.' },
  },
  examples: [
    { line: 'sluice quarantine', about: 'List the entries.' },
    { line: 'sluice quarantine show 12', about: 'Show one entry with its item.' },
    { line: 'sluice quarantine retry', about: 'Load the entries again, after an update of Sluice.' },
  ],
  run: async ({ action = 'list', id, config: flag }, context) => {
    if (action === 'show' ? id === undefined || !/^\d{1,18}$/.test(id) : id !== undefined) {
      const found = id === undefined ? 'none' : JSON.stringify(id);
      throw new UsageError(
        `quarantine: ${action} takes ${action === 'show' ? 'the number of one entry' : 'no number'}, found ${found}`,
        {
          next: 'Run sluice quarantine list for the numbers.',
        },
      );
    }
    const config = await readConfig(context, flag);
    const open = action === 'retry' ? withWarehouse : withWarehouseToRead;
    return open(context, config, async (warehouse) => {
      const isCreated = await hasSchema(warehouse);
      if (action === 'show') return showOne(context, warehouse, isCreated, id ?? '');
      if (action === 'list') return list(context, warehouse, isCreated);
      const summary = await replayWithProgress(context, warehouse, isCreated, {
        names: [],
        rebuild: false,
        quarantined: true,
      });
      show(context, 'replay/1', withRetryable(summary), () => replayText(summary, context.out));
      return summary.exitCode;
    });
  },
});

async function list(context: Context, warehouse: Warehouse, isCreated: boolean): Promise<number> {
  const { listQuarantine } = await import('../../ledger/quarantine.ts');
  const entries = isCreated ? await listQuarantine(warehouse, LISTED) : [];
  show(context, 'quarantine/1', entries, () => listText(entries, context));
  return EXIT.complete;
}

function listText(entries: readonly QuarantineEntry[], { out }: Context): string {
  if (entries.length === 0) return 'nothing is in quarantine\n';
  const listed = tableOf(entries, out, [
    ...fields('id', 'sync', 'resource'),
    column('position', (it) => it.pointer || 'the answer'),
    column('reason', (it) => it.reason),
    column('since', (it) => it.at),
  ]);
  const more =
    entries.length === LISTED
      ? `the newest ${LISTED} are listed\n`
      : `${withNoun(entries.length, 'entry', 'entries')}\n`;
  return listed + more;
}

const REMOVED = 'The body of the answer was removed, by sluice prune or sluice forget.\n';

async function showOne(context: Context, warehouse: Warehouse, isCreated: boolean, id: string): Promise<number> {
  const [{ showQuarantine }, { itemAt }] = await Promise.all([
    import('../../ledger/quarantine.ts'),
    import('../../ledger/inspect/item-at.ts'),
  ]);
  const found = isCreated ? await showQuarantine(warehouse, id) : undefined;
  if (!found) {
    throw new UsageError(`quarantine: there is no entry ${id}`, {
      next: 'Run sluice quarantine list for the entries.',
    });
  }
  const { entry, answer } = found;
  const item = answer === undefined ? null : itemAt(answer.body, entry.pointer);
  const itemText = answer === undefined ? REMOVED : asJson(item);
  show(context, 'quarantine-show/1', { ...entry, item }, () => `${listText([entry], context)}${itemText}`);
  return EXIT.complete;
}
