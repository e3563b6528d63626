/** Addresses of pictures, signed anew for every answer as picture stores do. */
import { digestOf } from './draw.ts';

/** Gives the address of the picture at a path, as the answer at hand tells it. */
export type Sign = (path: string) => string;

/** The signer of one answer: addresses of one picture differ between answers and agree within one. */
export const signing =
  (seed: number, answer: number): Sign =>
  (path) =>
    `https://images.example/${path}?e=${1_900_000_000 + answer}&sig=${digestOf(`${seed}/${answer}/${path}`).toString(16).padStart(8, '0')}`;
