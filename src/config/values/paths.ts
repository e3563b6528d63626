/** Makes the relative paths in a warehouse address absolute. The folder of the config is their base, wherever a command runs. */
import { isAbsolute, resolve } from 'node:path';

const EMBEDDED = 'embedded:';
const MEMORY = 'memory://';
const CERTIFICATES = /([?&](?:sslrootcert|sslcert|sslkey)=)([^&#]*)/g;

/** A warehouse address with absolute paths. */
export interface WarehousePlace {
  readonly url: string;
  /** The folder of an embedded warehouse as the config has it, if that is relative. */
  readonly relative?: string;
}

/** The address with its folder and certificate files made absolute. */
export function warehousePlace(url: string, folder: string): WarehousePlace {
  const path = embeddedFolder(url);
  if (path !== undefined)
    return isAbsolute(path) ? { url } : { url: `${EMBEDDED}${resolve(folder, path)}`, relative: path };
  if (url.startsWith(EMBEDDED)) return { url };
  return {
    url: url.replace(CERTIFICATES, (whole, name: string, value: string) => {
      const file = new URLSearchParams(`file=${value}`).get('file') ?? '';
      // `system` is the trust store of the machine, not a file.
      if (file === '' || file === 'system' || isAbsolute(file)) return whole;
      return `${name}${encodeURIComponent(resolve(folder, file))}`;
    }),
  };
}

/** The folder of an embedded warehouse; undefined of a server and of one in memory. */
export function embeddedFolder(url: string): string | undefined {
  const path = url.startsWith(EMBEDDED) ? url.slice(EMBEDDED.length) : '';
  return path.trim() === '' || path === MEMORY ? undefined : path;
}
