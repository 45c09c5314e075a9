/** A store command's bytes, with the fields that every one has. */
export function taskCommand(
  action: Record<string, unknown>,
  fields: { command?: string; task?: string; revision?: number | null } = {},
): string {
  return JSON.stringify({
    schema: 'openagents.coder.task-command.v1',
    command_id: fields.command ?? 'cmd-1',
    task_id: fields.task ?? 'task-1',
    expected_revision: fields.revision ?? null,
    action,
  })
}

/** The intent of a bounded command in `workspace`. */
export function submitAction(workspace: string, prompt = 'Sort the entries.'): Record<string, unknown> {
  return {
    type: 'submit',
    intent: {
      title: 'Sort',
      prompt,
      workspace: { path: workspace, source_revision: null },
      configuration: { adapter: 'bounded-command', model: null },
    },
  }
}
