import * as z from 'zod'
import { bytesIn, bytesOut } from '../lib/protocol/wire/routes.ts'

type Json = z.core.JSONSchema.JSONSchema

/** A schema as a person reads it: `{ id: string, at?: integer }`. */
export function shapeOf(schema: unknown): string {
  if (!(schema instanceof z.ZodType)) return 'nothing'
  if (schema instanceof z.ZodUndefined) return 'nothing'
  if (schema === bytesIn || schema === bytesOut) return 'bytes'
  return shape(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '')
}

function shape(node: Json | boolean, indent: string): string {
  if (typeof node === 'boolean') return node ? 'anything' : 'nothing'
  const choices = node.anyOf ?? node.oneOf
  if (choices)
    return union(
      choices.map(choice => shape(choice, `${indent}  `)),
      indent
    )
  if (node.allOf) return node.allOf.map(part => shape(part, indent)).join(' & ')
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.enum) return node.enum.map(one => JSON.stringify(one)).join(' | ')
  if (node.not) return 'nothing'
  if (node.type === 'array') return arrayOf(node.items, indent)
  if (node.type === 'object') return objectOf(node, indent)
  return [node.type ?? 'anything'].flat().join(' | ')
}

function objectOf({ properties = {}, required = [] }: Json, indent: string): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${shape(field, `${indent}  `)}`
  )
  if (fields.length === 0) return '{}'
  const flat = `{ ${fields.join(', ')} }`
  if (flat.length + indent.length < 110 && !flat.includes('\n')) return flat
  return `{\n${fields.map(field => `${indent}  ${field}\n`).join('')}${indent}}`
}

function arrayOf(items: Json['items'], indent: string): string {
  if (items === undefined || Array.isArray(items)) return 'anything[]'
  const item = shape(items, indent)
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

// A long choice reads better with one case per line.
function union(cases: string[], indent: string): string {
  const flat = [...new Set(cases)].join(' | ')
  return flat.length < 110 && !flat.includes('\n') ? flat : cases.map(one => `\n${indent}  | ${one}`).join('')
}
