import * as v from '../../../schema.ts'

export const riskLevel = v.picklist(['plain', 'careful', 'risky'])
export const riskName = v.picklist([
  'deletes',
  'rewrites-history',
  'discards',
  'admin-rights',
  'runs-download',
  'runs-edited',
  'overwrites-disk',
  'permissions',
  'secrets',
  'production',
  'database',
  'infrastructure',
  'hidden',
  'unparsable',
  'shortened',
  'network',
  'installs',
  'outside',
  'overwrites',
  'many-files'
])

export type Level = v.InferOutput<typeof riskLevel>
export type RiskName = v.InferOutput<typeof riskName>
