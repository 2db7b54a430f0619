// Loaded into the fuzzed server with --import: whoever writes to the prototype of every object is thrown out [N3].
// A plain freeze would also throw for an own property of one of these names, which is harmless and which libraries set.
const shared = Object.prototype

for (const name of Object.getOwnPropertyNames(shared)) {
  const { value, get } = Object.getOwnPropertyDescriptor(shared, name)
  if (get) continue
  Object.defineProperty(shared, name, {
    get: () => value,
    set(own) {
      if (this === shared) throw new TypeError(`Somebody writes Object.prototype.${name}.`)
      Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true })
    }
  })
}
Object.freeze(shared)
