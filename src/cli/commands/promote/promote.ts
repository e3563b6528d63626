/** `sluice promote`: drafts a column for an unknown field. */
import { EXIT } from '../../../errors.ts';
import type { Promotion } from '../../../flow/promote/promote.ts';
import { escapeControls } from '../../../text/terminal-safe.ts';
import { command, configOption, text } from '../../command.ts';
import { readConfig, withWarehouseToRead } from '../../open.ts';
import { isCheckout, packageFolder } from '../../package.ts';
import { withNoun } from '../../terminal/print.ts';
import { show } from '../../terminal/show.ts';

export const promote = command({
  about:
    'Turn an unknown field of answers into a column. sluice status proposes such fields; until then their values are in the column extra. ' +
    'In a checkout of Sluice, the command adds the field to its declaration and drafts the migration. Then sluice migrate adds the column, and sluice replay moves the stored values into it, without requests to the service. ' +
    'A value that does not fit the type stays in extra. For a declared field, the command shows what is left to do. In an installed package it changes nothing (exit code 2) and shows SQL that reads the field from extra. Needs no token.',
  options: {
    ...configOption,
    about: text('TEXT', 'Comment of the column: what the field means, and its unit.'),
    personal: text(
      'KIND',
      'How the field concerns a person: content, identifier or none (default: content in tables with personal data, otherwise none).',
    ),
  },
  positionals: {
    table: { takes: 'one', about: 'Table whose column extra has the field.' },
    field: {
      takes: 'one',
      about: 'Name of the field; for a nested field its path with dots, such as company.size.',
    },
    type: {
      takes: 'one',
      about:
        'Type of the column: text, bigint, number (double precision), boolean, timestamptz, date, uuid, jsonb or epoch.',
    },
  },
  examples: [
    { line: 'sluice promote sec_filings page_count bigint', about: 'Draft a column for a field of filings.' },
    {
      line: 'sluice promote pronet_user_educations company.size text --about "Size class of the school."',
      about: 'Draft the column company_size.',
    },
  ],
  run: async ({ config: flag, about, personal, table, field, type }, context) => {
    const config = await readConfig(context, flag);
    const { promote: draft } = await import('../../../flow/promote/promote.ts');
    const folder = packageFolder();
    const checkout = isCheckout(folder) ? folder : undefined;
    const result = await withWarehouseToRead(context, config, (warehouse) =>
      draft(warehouse, { table, field, type, about, personal, checkout }),
    );
    show(context, 'promote/1', result, () => promotionText(result));
    return EXIT.complete;
  },
});

function promotionText({ state, table, columns, type, personal, sampled, ...rest }: Promotion): string {
  const name = `${table}.${columns.join(', ')}`;
  const lines =
    state === 'declared'
      ? [`${name} is already declared, as ${type}${rest.next.length === 0 ? '; nothing is left to do' : ''}`]
      : [
          `drafted ${name} as ${type}${personal === null ? '' : `, personal data (${personal})`}`,
          ...(sampled.unfit === 0
            ? []
            : [`${sampled.unfit} of ${withNoun(sampled.values, 'value')} do not fit ${type} and will stay in extra`]),
          ...rest.files.map((it) => `wrote ${it}`),
          ...rest.statements.map((it) => `  ${it}`),
          ...rest.notes,
        ];
  return [...lines, ...rest.next.map((it) => `next: ${it}`)].map((it) => `${escapeControls(it)}\n`).join('');
}
