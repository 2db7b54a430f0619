import { readFileSync } from 'node:fs'
import { type CallExpression, type Expression, type ObjectExpression, parse, type SpreadElement } from 'acorn'
import { simple } from 'acorn-walk'
import { transformSync } from 'esbuild'

/** Literal text in a file of markup, visible or audible: between tags, and in text attributes. */
export function literalsOnScreen(file: string): string[] {
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    loader: 'tsx',
    jsx: 'transform',
    jsxFactory: 'h',
    jsxFragment: 'F',
    charset: 'utf8'
  })
  const found: string[] = []
  simple(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    CallExpression(call) {
      if (call.callee.type === 'Identifier' && call.callee.name === 'h') found.push(...literalsOf(call))
    }
  })
  // A single letter is a key on a keyboard, or a symbol.
  return found.filter(text => /\p{L}{2}/u.test(text))
}

const spokenAttributes = /^(aria-(label|description|valuetext|roledescription)|title|placeholder|alt|label|text|hint|lead|note|error)$/

function literalsOf({ arguments: [, attributes, ...children] }: CallExpression): string[] {
  const spoken = attributes?.type === 'ObjectExpression' ? spokenIn(attributes) : []
  return [...spoken, ...children].flatMap(textsOf)
}

function spokenIn({ properties }: ObjectExpression): Expression[] {
  return properties.flatMap(property => {
    if (property.type !== 'Property') return []
    const name = property.key.type === 'Identifier' ? property.key.name : property.key.type === 'Literal' ? String(property.key.value) : ''
    return spokenAttributes.test(name) ? [property.value] : []
  })
}

function textsOf(node: Expression | SpreadElement): string[] {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : []
    case 'TemplateLiteral':
      return node.quasis.map(({ value }) => value.raw)
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)]
    case 'LogicalExpression':
      return textsOf(node.right)
    case 'BinaryExpression':
      return [...(node.left.type === 'PrivateIdentifier' ? [] : textsOf(node.left)), ...textsOf(node.right)]
    default:
      return []
  }
}
