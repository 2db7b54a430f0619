import * as v from '../../schema.ts'

/** The key where an account stores, sealed like its settings, how far its sessions were read on any device. Ours. */
export const readMarksKey = 'afield.read'

/** By session, the number of the last message read; it only rises. */
export const readMarks = v.looseObject({ read: v.record(v.string(), v.pipe(v.int(), v.minValue(0))) })
