/** How much the tests do that could go on for ever: what is due at each change, and with `SLUICE_LONG=1` what is due before a release. */

/** The second count in the long form, else the first. */
export const countOf = (short: number, long: number): number => (process.env['SLUICE_LONG'] === '1' ? long : short);
