/** The number of random cases: enough for each change, and with `SLUICE_LONG=1` enough for a release. */

/** The second count in the long form, else the first. */
export const countOf = (short: number, long: number): number => (process.env['SLUICE_LONG'] === '1' ? long : short);
