/** `sluice mcp`: serves the warehouse to AI assistants over the Model Context Protocol. */
import { command, configOption, flag, number, flagRequires } from '../../command.ts';
import { readConfig } from '../../open.ts';
import { packageVersion } from '../../package.ts';

export const mcp = command({
  about:
    'Serve the Model Context Protocol on standard input and output, until the input or a signal ends the command. The log is on standard error. ' +
    'An AI assistant starts this command and calls its tools. By default it has no way to spend points.\n\n' +
    '- query: read-only SQL, as sluice query runs it; at most 1,000 rows.\n' +
    '- tables, describe_table, endpoints: what can be read, and what can be requested.\n' +
    '- status, costs, plan, quarantine: the figures of the commands of these names with --json, at most 200 elements of a list.\n' +
    '- sync: runs syncs; only with --allow-sync.\n\n' +
    'Each call reads the config and opens the warehouse anew, so other commands can use an embedded warehouse between calls. ' +
    'Values of the warehouse are marked as data, and contain no secrets.',
  logs: true,
  options: {
    ...configOption,
    'allow-sync': flag('Offer the tool sync, which spends points; needs --max-points.'),
    'max-points': number(
      'POINTS',
      'Maximum number of points that all calls of sync may spend together while the command runs. Interrupted and failed runs count, and a cost that is unknown counts as the greatest possible one.',
      { min: 1 },
    ),
  },
  positionals: {},
  examples: [
    { line: 'sluice mcp --config /srv/sluice/sluice.yaml', about: 'Let an assistant read.' },
    { line: 'sluice mcp --allow-sync --max-points 50', about: 'Let an assistant also spend 50 points.' },
  ],
  run: async ({ config: flag, 'allow-sync': maySpend, 'max-points': cap }, context) => {
    if (maySpend !== (cap !== undefined))
      throw flagRequires(
        'mcp',
        maySpend ? '--allow-sync' : '--max-points',
        maySpend ? '--max-points' : '--allow-sync',
        'Give both, to let an assistant spend up to these points, or neither.',
      );
    const { warehouse } = await readConfig(context, flag);
    const [{ serveMcp }, { dataTools }, { declaredTools }, { syncTool }, calls, { operationsSchema }] =
      await Promise.all([
        import('../../../mcp/serve-mcp.ts'),
        import('../../../mcp/data-tools.ts'),
        import('../../../mcp/declared-tools.ts'),
        import('../../../mcp/sync-tool.ts'),
        import('./calls.ts'),
        import('../../../warehouse/sql/identifiers.ts'),
      ]);
    const tools = [
      ...dataTools(calls.readings(context, flag)),
      ...declaredTools(calls.declarations(operationsSchema(warehouse.schema))),
      ...(cap === undefined ? [] : [syncTool(cap, calls.syncsUnderCap(context, flag, cap))]),
    ];
    context.log.info('serving MCP on standard input and output', { tools: tools.map(({ name }) => name).join(' ') });
    await serveMcp({
      tools,
      version: packageVersion(),
      about: aboutServer(cap),
      input: context.input,
      write: context.out.write,
      signal: context.signal,
      failureText: (error) => calls.failureText(context, error),
      redact: context.redactor.redact,
      onIgnored: (reason) => context.log.warn('a message of the client was ignored', { reason }),
    });
    return 0;
  },
});

const aboutServer = (cap: number | undefined): string =>
  'Sluice buys data from a paid service and keeps it in a Postgres warehouse. ' +
  'To answer questions about the data, call tables and describe_table, then query. To judge whether it is complete and current, call status. ' +
  (cap === undefined
    ? 'No tool of this server can spend points; plan shows what a sync would cost.'
    : `The tool sync spends points, at most ${cap} while this server runs. Call plan first, and sync only what the user asked for.`);
