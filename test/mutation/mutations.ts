import {
  type Block,
  type CallExpression,
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isCaseClause,
  isCatchClause,
  isClassDeclaration,
  isConditionalExpression,
  isConstructorDeclaration,
  isDefaultClause,
  isDeleteExpression,
  isDoStatement,
  isExpressionStatement,
  isForOfStatement,
  isForStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isIfStatement,
  isMethodDeclaration,
  isNewExpression,
  isNumericLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertyDeclaration,
  isReturnStatement,
  isSetAccessorDeclaration,
  isShorthandPropertyAssignment,
  isSpreadAssignment,
  isSpreadElement,
  isStatement,
  isStringLiteral,
  isTryStatement,
  isTypeNode,
  isVariableDeclaration,
  isVariableDeclarationList,
  isVariableStatement,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind
} from 'typescript/unstable/ast'

/** Replaces the text between two positions of a file. */
export interface Edit {
  from: number
  to: number
  text: string
}

export interface Mutation extends Edit {
  kind: string
  /** Edits that run `code` whenever the changed place is reached, on the line where it is. */
  reaching(code: string): Edit[]
}

export interface FunctionOfFile {
  name: string
  /** In statements; those of functions with a name of their own inside it do not count. */
  size: number
  mutations: readonly Mutation[]
}

type Finder = (node: Node, source: SourceFile) => Edit[]

/** Code that runs or does not, as a whole: a statement, or one side of a condition. */
interface Step {
  from: number
  to: number
  reaching: Mutation['reaching']
}

interface Own {
  size: number
  steps: Step[]
  found: Omit<Mutation, 'reaching'>[]
}

/** The functions of a file that something can be changed in. Callbacks without a name belong to the function around them. */
export function functionsOf(source: SourceFile): FunctionOfFile[] {
  const functions: FunctionOfFile[] = []
  const visit = (node: Node, path: readonly string[], own: Own | undefined) => {
    if (isTypeNode(node) || isLogging(node, source)) return
    const part = isClassDeclaration(node) ? node.name?.text : nameOf(node, source)
    const inner = part === undefined ? path : [...path, part]
    const body = part === undefined || isClassDeclaration(node) ? undefined : bodyOf(node)
    const current = body ? { size: isBlock(body) ? 0 : 1, steps: [{ ...stepOfBody(body, source), from: node.pos }], found: [] } : own
    if (current) addTo(current, node)
    node.forEachChild(child => visit(child, inner, current))
    if (!body || !current || current.found.length === 0) return
    const mutations = current.found.map(found => ({ ...found, reaching: innermost(current.steps, found.from).reaching }))
    functions.push({ name: inner.join('.'), size: Math.max(1, current.size), mutations })
  }
  const addTo = (own: Own, node: Node) => {
    if (isStatement(node) && !isBlock(node)) own.size += 1
    const step = stepOf(node, source)
    if (step) own.steps.push(step)
    for (const [kind, find] of kinds) for (const found of find(node, source)) own.found.push({ kind, ...found })
  }
  visit(source, [], undefined)
  return functions
}

export function apply(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let at = 0
  // At one position, what comes first in the list comes first in the text.
  for (const { from, to, text: put } of edits.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(at, from), put)
    at = to
  }
  return parts.join('') + text.slice(at)
}

function bodyOf(node: Node): Node | undefined {
  const isNamed = isFunctionDeclaration(node) || isMethodDeclaration(node) || isConstructorDeclaration(node)
  if (isNamed || isGetAccessorDeclaration(node) || isSetAccessorDeclaration(node)) return node.body
  return isArrowFunction(node) || isFunctionExpression(node) ? node.body : undefined
}

/** The name of a function, also of one that is the value of a variable or a property. */
function nameOf(node: Node, source: SourceFile): string | undefined {
  if (isConstructorDeclaration(node)) return 'constructor'
  if (isFunctionDeclaration(node)) return node.name?.text
  if (isMethodDeclaration(node) || isGetAccessorDeclaration(node) || isSetAccessorDeclaration(node)) return node.name.getText(source)
  if (!isArrowFunction(node) && !isFunctionExpression(node)) return undefined
  const { parent } = node
  const isValue = isVariableDeclaration(parent) || isPropertyAssignment(parent) || isPropertyDeclaration(parent)
  return isValue && parent.initializer === node ? parent.name.getText(source) : undefined
}

function stepOfBody(body: Node, source: SourceFile): Step {
  const from = body.getStart(source)
  if (!isBlock(body)) return wrapped(body, ['(', ', ', ')'], source)
  return { from, to: body.end, reaching: code => [{ from: from + 1, to: from + 1, text: ` ${code};` }] }
}

function stepOf(node: Node, source: SourceFile): Step | undefined {
  const { parent } = node
  if (isStatement(node)) {
    if (isBlock(node) || isFunctionDeclaration(node) || isClassDeclaration(node) || !parent) return undefined
    const from = node.getStart(source)
    const isListed = isBlock(parent) || isCaseClause(parent) || isDefaultClause(parent)
    if (isListed) return { from, to: node.end, reaching: code => [{ from, to: from, text: `${code}; ` }] }
    const isBranch = isIfStatement(parent) || isForStatement(parent) || isForOfStatement(parent) || isWhileStatement(parent)
    return isBranch ? wrapped(node, ['{ ', '; ', ' }'], source) : undefined
  }
  return isSide(node) ? wrapped(node, ['(', ', ', ')'], source) : undefined
}

/** An expression that is skipped when a condition says so, or the body of a callback. */
function isSide(node: Node): boolean {
  const { parent } = node
  if (isConditionalExpression(parent)) return node === parent.whenTrue || node === parent.whenFalse
  if (isArrowFunction(parent)) return node === parent.body && !isBlock(node)
  if (!isBinaryExpression(parent) || node !== parent.right) return false
  const { kind } = parent.operatorToken
  return exchanged.has(kind) || kind === SyntaxKind.QuestionQuestionToken
}

function wrapped(node: Node, [open, then, close]: readonly [string, string, string], source: SourceFile): Step {
  const from = node.getStart(source)
  return {
    from,
    to: node.end,
    reaching: code => [
      { from, to: from, text: `${open}${code}${then}` },
      { from: node.end, to: node.end, text: close }
    ]
  }
}

/** The first is the whole function: default values of its parameters are in no other. */
function innermost(steps: readonly Step[], at: number): Step {
  const [whole, ...others] = steps
  if (!whole) throw new Error('A function has no body.')
  return others.filter(({ from, to }) => from <= at && at < to).reduce((inner, each) => (each.from > inner.from ? each : inner), whole)
}

// A changed text in the log, or of an error, breaks nothing that a test should see.
const logs = /^(?:console\.|(?:.*\.)?log(?:ger)?(?:\.(?:trace|debug|info|warn|error|fatal))?$|(?:new )?\w*Error$)/

function isLogging(node: Node, source: SourceFile): boolean {
  return (isCallExpression(node) || isNewExpression(node)) && logs.test(node.expression.getText(source))
}

const cleanups =
  /^(?:close|dispose|destroy|release|unref|unsubscribe|abort|clear|clearTimeout|clearInterval|removeEventListener|removeListener|removeAllListeners|off|unlisten|rmSync|rm|unlink|unlinkSync|unwatch|unlock)$/

/** Each kind of change, and where a node can be changed so. */
const kinds: readonly [kind: string, find: Finder][] = [
  ['condition negated', negations],
  ['statement removed', (node, source) => (isExpressionStatement(node) && !isCleanup(node) ? removal(node, source) : [])],
  ['boundary moved', boundaries],
  ['arguments swapped', swaps],
  ['early return', earlyReturns],
  ['await lost', (node, source) => (isAwaitExpression(node) ? [replaced(node, node.expression.getText(source), source)] : [])],
  [
    'catch emptied',
    (node, source) => (isCatchClause(node) && node.block.statements.length > 0 ? [replaced(node.block, '{}', source)] : [])
  ],
  ['error not caught', rethrows],
  ['and for or', connectives],
  ['operand left out', operands],
  ['property left out', properties],
  ['default left out', defaults],
  ['cleanup removed', removedCleanups],
  ['constant changed', constants]
]

function replaced(node: Node, text: string, source: SourceFile): Edit {
  return { from: node.getStart(source), to: node.end, text }
}

const opposites = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '===']
])

function negations(node: Node, source: SourceFile): Edit[] {
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [replaced(node, node.operand.getText(source), source)]
  const opposite = isBinaryExpression(node) ? opposites.get(node.operatorToken.kind) : undefined
  if (isBinaryExpression(node) && opposite !== undefined) return [replaced(node.operatorToken, opposite, source)]
  const isCondition = isIfStatement(node) || isWhileStatement(node) || isDoStatement(node)
  const condition = isCondition ? node.expression : isConditionalExpression(node) || isForStatement(node) ? node.condition : undefined
  // Those with an operator that can be turned are changed there.
  const isTurned =
    condition && (isPrefixUnaryExpression(condition) || (isBinaryExpression(condition) && opposites.has(condition.operatorToken.kind)))
  return condition && !isTurned ? [replaced(condition, `!(${condition.getText(source)})`, source)] : []
}

/** A statement that does something: a call, an assignment, a count. */
function removal(node: Node, source: SourceFile): Edit[] {
  if (!isExpressionStatement(node)) return []
  const inner = isAwaitExpression(node.expression) ? node.expression.expression : node.expression
  const isAssignment = isBinaryExpression(inner) && /^(?:[^=!<>]*)=$/.test(inner.operatorToken.getText(source))
  const isDoing = isCallExpression(inner) || isAssignment || isDeleteExpression(inner) || isPostfixUnaryExpression(inner)
  const isNeeded = isLogging(inner, source) || (isCallExpression(inner) && inner.expression.kind === SyntaxKind.SuperKeyword)
  return isDoing && !isNeeded ? [replaced(node, ';', source)] : []
}

const movedComparisons = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>']
])

function boundaries(node: Node, source: SourceFile): Edit[] {
  if (isBinaryExpression(node)) {
    const moved = movedComparisons.get(node.operatorToken.kind)
    if (moved !== undefined) return [replaced(node.operatorToken, moved, source)]
    const isStep = /^[+-]$/.test(node.operatorToken.getText(source)) && isNumericLiteral(node.right) && node.right.text === '1'
    return isStep ? [{ from: node.left.end, to: node.end, text: '' }] : []
  }
  if (!isCallExpression(node) || calledName(node) !== 'slice') return []
  return node.arguments.filter(isNumericLiteral).map(bound => replaced(bound, String(Number(bound.getText(source)) + 1), source))
}

function swaps(node: Node, source: SourceFile): Edit[] {
  if (!(isCallExpression(node) || isNewExpression(node)) || /^Math\.(?:min|max)$/.test(node.expression.getText(source))) return []
  return [...(node.arguments ?? [])].flatMap((second, index, all) => {
    const first = all[index - 1]
    if (!first || !isPlain(first) || !isPlain(second)) return []
    const [before, after] = [first.getText(source), second.getText(source)]
    if (before === after) return []
    const between = source.text.slice(first.end, second.getStart(source))
    return [{ from: first.getStart(source), to: second.end, text: `${after}${between}${before}` }]
  })
}

function isPlain(node: Node): boolean {
  return !isArrowFunction(node) && !isFunctionExpression(node) && !isObjectLiteralExpression(node) && !isSpreadElement(node)
}

/** Before each statement of a function's own block but the last, which a removal covers, and a return. */
function earlyReturns(node: Node, source: SourceFile): Edit[] {
  const body = bodyOf(node)
  if (!body || !isBlock(body)) return []
  return [...body.statements].slice(0, -1).flatMap(statement => {
    if (isReturnStatement(statement) || isVariableStatement(statement) || isFunctionDeclaration(statement)) return []
    if (isExpressionStatement(statement) && (isLogging(statement.expression, source) || isSuper(statement.expression))) return []
    const from = statement.getStart(source)
    return [{ from, to: from, text: 'return; ' }]
  })
}

function isSuper(node: Node): boolean {
  return isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword
}

function rethrows(node: Node, source: SourceFile): Edit[] {
  if (isCatchClause(node)) return [{ from: node.getStart(source), to: node.end, text: 'catch (uncaught) { throw uncaught }' }]
  const isCatch = isCallExpression(node) && calledName(node) === 'catch' && isPropertyAccessExpression(node.expression)
  return isCatch && isPropertyAccessExpression(node.expression) ? [replaced(node, node.expression.expression.getText(source), source)] : []
}

const exchanged = new Map([
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&']
])

function connectives(node: Node, source: SourceFile): Edit[] {
  const other = isBinaryExpression(node) ? exchanged.get(node.operatorToken.kind) : undefined
  return isBinaryExpression(node) && other !== undefined ? [replaced(node.operatorToken, other, source)] : []
}

function operands(node: Node, source: SourceFile): Edit[] {
  if (!isBinaryExpression(node) || !exchanged.has(node.operatorToken.kind)) return []
  return [
    { from: node.left.end, to: node.end, text: '' },
    { from: node.getStart(source), to: node.right.getStart(source), text: '' }
  ]
}

function properties(node: Node, source: SourceFile): Edit[] {
  if (!isObjectLiteralExpression(node)) return []
  return [...node.properties].flatMap((property, index, all) => {
    const isData = isPropertyAssignment(property) || isShorthandPropertyAssignment(property) || isSpreadAssignment(property)
    // An undefined property is as good as none.
    if (!isData || (isPropertyAssignment(property) && property.initializer.getText(source) === 'undefined')) return []
    const next = all[index + 1]
    const previous = all[index - 1]
    if (next) return [{ from: property.getStart(source), to: next.getStart(source), text: '' }]
    return [{ from: previous ? previous.end : property.getStart(source), to: property.end, text: '' }]
  })
}

function defaults(node: Node): Edit[] {
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) {
    return [{ from: node.left.end, to: node.end, text: '' }]
  }
  if (!(isParameterDeclaration(node) || isBindingElement(node)) || !node.initializer) return []
  const end = (isParameterDeclaration(node) ? (node.type ?? node.name) : node.name)?.end
  return end === undefined ? [] : [{ from: end, to: node.initializer.end, text: '' }]
}

function isCleanup(node: Node): boolean {
  if (!isExpressionStatement(node)) return false
  const inner = isAwaitExpression(node.expression) ? node.expression.expression : node.expression
  return isCallExpression(inner) && cleanups.test(calledName(inner) ?? '')
}

function removedCleanups(node: Node, source: SourceFile): Edit[] {
  if (isCleanup(node)) return removal(node, source)
  if (isTryStatement(node) && node.finallyBlock && hasStatements(node.finallyBlock)) return [replaced(node.finallyBlock, '{}', source)]
  if (isVariableDeclarationList(node)) {
    const [, keyword] = /^((?:await )?using) /.exec(node.getText(source)) ?? []
    const from = node.getStart(source)
    return keyword === undefined ? [] : [{ from, to: from + keyword.length, text: 'const' }]
  }
  // What an effect returns is called at its end.
  const returned = isReturnStatement(node) ? node.expression : undefined
  return returned && isArrowFunction(returned) && returned.parameters.length === 0 ? [replaced(returned, '() => {}', source)] : []
}

function hasStatements(block: Block): boolean {
  return block.statements.length > 0
}

function constants(node: Node, source: SourceFile): Edit[] {
  if (node.kind === SyntaxKind.TrueKeyword) return [replaced(node, 'false', source)]
  if (node.kind === SyntaxKind.FalseKeyword) return [replaced(node, 'true', source)]
  if (isStringLiteral(node)) return isCompared(node) ? [replaced(node, `${node.getText(source).slice(0, -1)}!'`, source)] : []
  if (!isNumericLiteral(node) || isStepOrBound(node)) return []
  const value = Number(node.getText(source).replaceAll('_', ''))
  return [replaced(node, String(value > 9 ? Math.floor(value / 2) : value + 1), source)]
}

function isCompared(node: Node): boolean {
  const { parent } = node
  return (isBinaryExpression(parent) && opposites.has(parent.operatorToken.kind)) || isCaseClause(parent)
}

/** A boundary changes these. */
function isStepOrBound(node: Node): boolean {
  const { parent } = node
  if (isCallExpression(parent)) return calledName(parent) === 'slice'
  return (
    isBinaryExpression(parent) && parent.right === node && ['+', '-'].includes(parent.operatorToken.getText()) && node.getText() === '1'
  )
}

function calledName(node: CallExpression): string | undefined {
  const { expression } = node
  return isPropertyAccessExpression(expression)
    ? expression.name.text
    : expression.kind === SyntaxKind.Identifier
      ? expression.getText()
      : undefined
}
