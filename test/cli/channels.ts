/** Channels that keep what is written to them. */
import type { Channel } from '../../src/cli/terminal/channel.ts';

export interface KeptChannel extends Channel {
  readonly text: () => string;
}

/** A terminal of that width, or no terminal when no width is given. */
export function keptChannel(
  columns?: number,
  color = false,
  isOpen?: () => boolean,
  onWrite?: (text: string) => void,
): KeptChannel {
  let written = '';
  return {
    isTerminal: columns !== undefined,
    columns,
    color,
    ...(isOpen && { isOpen }),
    write: (text) => {
      written += text;
      onWrite?.(text);
    },
    text: () => written,
  };
}
