/** Colours of the page: text can be read and marks can be seen, in light, in dark and on paper. */
import { describe, expect, it } from 'vitest';
import { STYLE } from '../../src/report/style.ts';

describe('colours', () => {
  const themes = [...STYLE.matchAll(/:root \{([^}]*--page[^}]*)\}/g)].map(([, block = '']) =>
    Object.fromEntries([...block.matchAll(/--(\w+): (#[0-9a-f]+)/g)].map(([, name = '', value = '']) => [name, value])),
  );

  it.each(themes.map((it, place) => [['light', 'dark', 'paper'][place], it] as const))(
    'of %s is distinguishable from the page',
    (_name, colours) => {
      const against = (name: string): number => contrast(colours[name] ?? '', colours['page'] ?? '');
      for (const name of ['text', 'soft', 'link'])
        expect({ name, isRead: against(name) >= 4.5 }).toEqual({ name, isRead: true });
      for (const name of ['mark', 'good', 'warn', 'bad'])
        expect({ name, isSeen: against(name) >= 3 }).toEqual({ name, isSeen: true });
    },
  );

  it('are there for light, dark and paper', () => {
    expect(themes).toHaveLength(3);
  });
});

/** As WCAG 2 reckons it. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
