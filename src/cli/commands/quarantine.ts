/** `sluice quarantine`: what could not be understood, listed, shown and loaded again. */
import { EXIT, UsageError } from '../../errors.ts';
import type { QuarantineEntry } from '../../ledger/quarantine.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { asJson } from '../terminal/json.ts';
import { hasSchema, readConfig, withWarehouse, withWarehouseToRead } from '../open.ts';
import { withNoun, table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { replayText, replayWithProgress } from './replay.ts';

/** More is not read at once; the newest come first. */
const LISTED = 200;

export const quarantine = command({
  about:
    `list (the default) tells the newest ${LISTED} entries with place and reason, show ID prints one with the item as the service sent it, ` +
    'retry loads the answers that hold such entries again from the vault, with no request to the service. Needs no token.',
  options: configOption,
  positionals: {
    action: { takes: 'optional', choices: ['list', 'show', 'retry'], about: 'What to do.' },
    id: { takes: 'optional', about: 'The entry to show.' },
  },
  examples: [
    { line: 'sluice quarantine', about: 'What could not be understood.' },
    { line: 'sluice quarantine show 12', about: 'One entry with its item.' },
    { line: 'sluice quarantine retry', about: 'Load it again, after an update of Sluice.' },
  ],
  run: async ({ action = 'list', id, config: flag }, context) => {
    if (action === 'show' ? id === undefined || !/^\d{1,18}$/.test(id) : id !== undefined) {
      throw new UsageError('quarantine: show takes the number of one entry, list and retry take none', {
        next: 'Run sluice quarantine list for the numbers.',
      });
    }
    const config = await readConfig(context, flag);
    const withIt = action === 'retry' ? withWarehouse : withWarehouseToRead;
    return withIt(context, config, async (warehouse) => {
      const there = await hasSchema(warehouse);
      if (action === 'show') return showOne(context, warehouse, there, id ?? '');
      if (action === 'list') return list(context, warehouse, there);
      const summary = await replayWithProgress(context, warehouse, there, {
        names: [],
        rebuild: false,
        quarantined: true,
      });
      show(context, summary, () => replayText(summary, context.out));
      return summary.exitCode;
    });
  },
});

async function list(context: Context, warehouse: Warehouse, there: boolean): Promise<number> {
  const { listQuarantine } = await import('../../ledger/quarantine.ts');
  const entries = there ? await listQuarantine(warehouse, LISTED) : [];
  show(context, entries, () => listText(entries, context));
  return EXIT.complete;
}

function listText(entries: readonly QuarantineEntry[], { out }: Context): string {
  if (entries.length === 0) return 'nothing is in quarantine\n';
  const columns = ['id', 'sync', 'resource', 'place', 'reason', 'since'].map((name) => ({ name }));
  const rows = entries.map((it) => [
    it.id,
    it.sync,
    it.resource,
    it.pointer === '' ? 'whole answer' : it.pointer,
    it.reason,
    it.at,
  ]);
  const more =
    entries.length === LISTED
      ? `the newest ${LISTED} are listed\n`
      : `${withNoun(entries.length, 'entry', 'entries')}\n`;
  return table(columns, rows, out) + more;
}

async function showOne(context: Context, warehouse: Warehouse, there: boolean, id: string): Promise<number> {
  const [{ showQuarantine }, { itemAt }] = await Promise.all([
    import('../../ledger/quarantine.ts'),
    import('../terminal/pointer.ts'),
  ]);
  const found = there ? await showQuarantine(warehouse, id) : undefined;
  if (!found) {
    throw new UsageError(`quarantine: there is no entry ${id}`, {
      next: 'Run sluice quarantine list for what there is.',
    });
  }
  const item = found.body === undefined ? null : itemAt(found.body, found.entry.pointer);
  show(context, { ...found.entry, item }, () => `${listText([found.entry], context)}${asJson(item)}`);
  return EXIT.complete;
}
