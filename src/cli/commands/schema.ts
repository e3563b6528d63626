/** `sluice schema`: prints the JSON Schema of a config. */
import { command, text } from '../command.ts';
import { writeOutputFile } from '../terminal/output-file.ts';

export const schema = command({
  about:
    'Print the JSON Schema of a config, or write it to a file. ' +
    'Editors use it to check a config that begins with the line "# yaml-language-server: $schema=./sync.schema.json".',
  options: { output: text('FILE', 'Write to this file instead of standard output.') },
  positionals: {},
  examples: [
    {
      line: 'sluice schema --output sync.schema.json',
      about: 'Write it beside the config, whose first line names it.',
    },
  ],
  run: async ({ output }, context) => {
    const { schemaText } = await import('../reference/schema-text.ts');
    if (output === undefined) {
      context.out.write(schemaText());
      return 0;
    }
    await writeOutputFile('schema', '--output', { path: output, content: schemaText() });
    context.log.info(`wrote ${output}`);
    return 0;
  },
});
