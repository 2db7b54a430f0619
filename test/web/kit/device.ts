import { effect, type ReadonlySignal } from '@preact/signals'
import type { DeviceDb } from '../../../web/core/device-db.ts'

/** The storage of a device, without a browser; values pass through JSON, as in a real one. */
export function memoryDb(): Pick<DeviceDb, 'read' | 'write' | 'remove'> {
  const kept = new Map<string, string>()
  return {
    async read(name) {
      const text = kept.get(name)
      return text === undefined ? undefined : JSON.parse(text)
    },
    async write(name, value) {
      kept.set(name, JSON.stringify(value))
    },
    async remove(name) {
      kept.delete(name)
    }
  }
}

/** Resolves once the value matches. */
export async function until<Value>(value: ReadonlySignal<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = effect(() => {
    if (isSo(value.value)) resolve()
  })
  await promise
  stop()
  return value.peek()
}
