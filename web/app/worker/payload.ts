import { type Pushed as Payload, pushed } from '../../../lib/protocol/wire/pushed.ts'
import * as v from '../../../lib/schema.ts'

export type { Payload }

/** As much of a push event as is used here. Where the browser reads the declaration itself, it hands on what it read of it. */
export interface Pushed {
  readonly data?: { json(): unknown } | null
  readonly notification?: unknown
}

/** Undefined for what our server did not write. */
export function readPayload({ data, notification }: Pushed): Payload | undefined {
  return v.safeParse(pushed, notification ?? declaredIn(data)).data
}

function declaredIn(data: Pushed['data']): unknown {
  try {
    const said = data?.json()
    return typeof said === 'object' && said !== null && 'notification' in said ? said.notification : undefined
  } catch {
    return undefined
  }
}
