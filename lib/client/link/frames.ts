import { type Ephemeral, ephemeral } from '../../protocol/wire/ephemerals.ts'
import { type Update, update, updateBody } from '../../protocol/wire/updates.ts'
import * as v from '../../schema.ts'

/** `strange` is a frame of an unknown kind, which every client silently drops. */
export type Frame<Known> = { type: 'known'; frame: Known } | { type: 'strange' } | { type: 'bad' }

export function readUpdate(frame: unknown): Frame<Update> {
  return readFrame(update, frame, v.safeParse(looseUpdate, frame).data?.body.t, updateKinds)
}

export function readEphemeral(frame: unknown): Frame<Ephemeral> {
  return readFrame(ephemeral, frame, v.safeParse(looseEphemeral, frame).data?.type, ephemeralKinds)
}

const looseUpdate = v.object({ body: v.object({ t: v.string() }) })
const looseEphemeral = v.object({ type: v.string() })
const updateKinds = new Set<string>(updateBody.options.map(option => option.entries.t.literal))
const ephemeralKinds = new Set<string>(ephemeral.options.map(option => option.entries.type.literal))

function readFrame<Known>(
  schema: v.GenericSchema<unknown, Known>,
  frame: unknown,
  kind: string | undefined,
  kinds: Set<string>
): Frame<Known> {
  const known = v.safeParse(schema, frame)
  if (known.success) return { type: 'known', frame: known.data }
  return kind === undefined || kinds.has(kind) ? { type: 'bad' } : { type: 'strange' }
}
