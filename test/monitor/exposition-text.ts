/** Reads what Prometheus would read, as strictly: each line is a comment or one sample, and labels end where they should. */

export interface Read {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

export function readExposition(text: string): Read {
  const types = new Map<string, string>();
  const samples: Read['samples'][number][] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, type, of = ''] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
    if (type !== undefined) types.set(type, of);
    if (line.startsWith('#')) continue;
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`no sample: ${line}`);
    samples.push({ name, labels: labelsOf(labels), value: Number(value) });
  }
  return { types, samples };
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '') throw new Error(`no label: ${text.slice(at)}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_all, mark: string) => (mark === 'n' ? '\n' : mark));
    at = LABEL.lastIndex;
  }
  return labels;
}
