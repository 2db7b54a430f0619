import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { signUp } from '../kit/person.ts'
import type { Keeper } from './trial.ts'

/** How long somebody waited for each message to be answered and heard, in milliseconds. */
export interface Waits {
  count: number
  median: number
  most: number
}

/** Where the bystander lives: a network of its own, which no attack comes from. */
export const bystanderAddress = '127.9.9.9'

/**
 * Somebody with an account of their own, who writes messages and hears them while others attack. In a thread of its own,
 * so that what the attack costs its own program does not count.
 */
export class Bystander {
  readonly #worker: Worker

  static async at(t: Keeper, server: { url: string }): Promise<Bystander> {
    const person = await signUp(t, server)
    const session = await person.openSession()
    const worker = new Worker(new URL('bystander-thread.ts', import.meta.url), {
      workerData: { url: server.url, token: person.token, session }
    })
    t.teardown(() => worker.terminate())
    await once(worker, 'message')
    return new Bystander(worker)
  }

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** What it waited while `during` went on. Rejects when a message of it was refused or not heard within a minute. */
  async waits(during: () => Promise<unknown>): Promise<Waits> {
    const told = once(this.#worker, 'message')
    this.#worker.postMessage('begin')
    await Promise.race([during(), told])
    this.#worker.postMessage('end')
    const [waits] = await told
    const sorted = [...waits].toSorted((one, other) => one - other)
    return { count: sorted.length, median: sorted[Math.floor(sorted.length / 2)] ?? 0, most: sorted.at(-1) ?? 0 }
  }
}

/** Printed and never asserted: what others wait says more about the machine than about the server. */
export function toldOf(calm: Waits, attacked: Waits): string {
  const times = (one: number, other: number) => `${(one / Math.max(other, 0.001)).toFixed(1)} ×`
  return `others waited ${attacked.median.toFixed(1)} ms in the median (${times(attacked.median, calm.median)} the unattacked server), ${attacked.most.toFixed(0)} ms at most (${times(attacked.most, calm.most)}), ${attacked.count} messages`
}
