import * as v from '../../schema.ts'

/** The key under which an account keeps, sealed like its settings, how far its sessions were read on any of its devices. Ours. */
export const readMarksKey = 'afield.read'

/** By session the number of the last message that a person has seen; it only rises. */
export const readMarks = v.looseObject({ read: v.record(v.string(), v.pipe(v.int(), v.minValue(0))) })
