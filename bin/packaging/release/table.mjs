/** The page that says what this folder holds. A row: what it is, its file, its size, and what was done with it. */
export function tableOf({ version, commit, rows, tools, isSigned, hasKey, expiresAt }) {
  const line = ({ what, file, bytes, seen }) =>
    `| ${what} | ${file ? `\`${file}\`` : 'not made here'} | ${bytes ? megabytes(bytes) : ''} | ${seen} |`
  return `# Afield ${version}

Made from commit ${commit} with ${tools.join(', ')}.

| | file | MB | run |
| --- | --- | ---: | --- |
${rows.map(line).join('\n')}

${sentenceOnKeys({ isSigned, hasKey, expiresAt })}

To check what you downloaded:

\`\`\`sh
${isSigned ? 'minisign -Vm SHA256SUMS -p release-key.pub    # compare the key with the one you know\n' : ''}sha256sum --check --ignore-missing SHA256SUMS
\`\`\`
`
}

function sentenceOnKeys({ isSigned, hasKey, expiresAt }) {
  const until = `\`afield upgrade\` accepts this release until ${expiresAt.slice(0, 10)}`
  if (isSigned)
    return `\`SHA256SUMS\` and \`latest.json\` are signed; \`release-key.pub\` is the public key, and the programs contain it. ${until}.`
  if (hasKey)
    return `Nothing is signed yet. The programs contain \`release-key.pub\`. Once \`latest.json\` is signed with its key, ${until}.`
  return 'Nothing is signed. The programs contain no public key, so they cannot upgrade themselves.'
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
