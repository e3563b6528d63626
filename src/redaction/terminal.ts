/** Terminal control sequences. Node's own pattern for them takes quadratic time. */

/** A pattern for a control sequence. It is linear, since its long parts are bounded. */
export const TERMINAL_SEQUENCE = String.raw`(?:\u001b\[|\u009b)[0-9:;<=>?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,256}(?:\u0007|\u001b\\|\u009c)|\u001b`;

const SEQUENCES = new RegExp(TERMINAL_SEQUENCE, 'g');

/** The text without terminal control sequences. */
export const withoutTerminalSequences = (text: string): string => text.replaceAll(SEQUENCES, '');
