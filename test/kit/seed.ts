const named = process.env['AFIELD_SEED']
const given = named ?? '1'

/** The seed for all samples of the tests: the same in each run, so that a run can be repeated. The long-running scripts use a new one each time. */
export const sampleSeed = { text: given, number: Number(given) || 1, isAll: given === 'all', isGiven: named !== undefined }
