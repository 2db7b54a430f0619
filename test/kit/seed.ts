const given = process.env['AFIELD_SEED'] ?? '1'

/** What picks every sample of the tests: the same in each run, so that a run can be had again. The scripts of their own take a new one each time. */
export const sampleSeed = { text: given, number: Number(given) || 1, isAll: given === 'all' }
