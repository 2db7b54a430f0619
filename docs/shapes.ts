import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import { bytesIn, bytesOut } from '../lib/protocol/wire/routes.ts'
import type * as v from '../lib/schema.ts'

/** A schema as a person reads it: `{ id: string, at?: integer }`. */
export function shapeOf(schema: v.GenericSchema | undefined): string {
  if (schema === undefined || schema.type === 'undefined') return 'nothing'
  if (schema === bytesIn || schema === bytesOut) return 'bytes'
  return shape(toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' }), '')
}

function shape(node: JsonSchema | boolean, indent: string): string {
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

function objectOf({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${shape(field, `${indent}  `)}`
  )
  if (fields.length === 0) return '{}'
  const flat = `{ ${fields.join(', ')} }`
  if (flat.length + indent.length < 110 && !flat.includes('\n')) return flat
  return `{\n${fields.map(field => `${indent}  ${field}\n`).join('')}${indent}}`
}

function arrayOf(items: JsonSchema['items'], indent: string): string {
  if (items === undefined || Array.isArray(items)) return 'anything[]'
  const item = shape(items, indent)
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

// A long choice reads better with one case per line.
function union(cases: string[], indent: string): string {
  const flat = [...new Set(cases)].join(' | ')
  return flat.length < 110 && !flat.includes('\n') ? flat : cases.map(one => `\n${indent}  | ${one}`).join('')
}
