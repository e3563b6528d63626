/** What a terminal acts upon. Node's own pattern for it takes quadratic time. */

/** A sequence for a terminal, as a pattern: linear, since what may be long in it is bounded. */
export const TERMINAL_SEQUENCE = String.raw`(?:\u001b\[|\u009b)[0-9:;<=>?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,256}(?:\u0007|\u001b\\|\u009c)|\u001b`;

const SEQUENCES = new RegExp(TERMINAL_SEQUENCE, 'g');

/** The text without sequences for a terminal. */
export const withoutTerminalSequences = (text: string): string => text.replaceAll(SEQUENCES, '');
