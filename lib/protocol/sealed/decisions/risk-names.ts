import * as z from 'zod'

export const riskLevel = z.enum(['plain', 'careful', 'risky'])
export const riskName = z.enum([
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

export type Level = z.infer<typeof riskLevel>
export type RiskName = z.infer<typeof riskName>
