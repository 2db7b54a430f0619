import { useEffect, useState } from 'preact/hooks'
import { deviceDb } from './device-db.ts'

/** What was begun last on this device, and the text that waits to be the first of a session. */
export interface LastStart {
  text?: string
  machine?: string | undefined
  folder?: string | undefined
  agent?: string | undefined
  mode?: string | undefined
}

const lastName = 'start'
let lastKept: LastStart = {}

/** What was begun last on this device, and what is being written. Undefined while it is read. */
export function useLastStart(): LastStart | undefined {
  const [last, setLast] = useState<LastStart>()
  useEffect(() => {
    deviceDb()
      .then(db => db.read(lastName))
      .catch(() => undefined)
      .then(kept => {
        lastKept = isLastStart(kept) ? kept : {}
        setLast(lastKept)
      })
  }, [])
  return last
}

export function keepLastStart(changed: LastStart): void {
  lastKept = { ...lastKept, ...changed }
  const kept = lastKept
  void deviceDb()
    .then(db => db.write(lastName, kept))
    .catch(() => {})
}

// Only this file writes the entry, and it is sealed.
function isLastStart(kept: unknown): kept is LastStart {
  return typeof kept === 'object' && kept !== null
}
