import ExecStage
import PluginKit

PluginProgram.run("exec") { context in
    let runner = try ExecRunner(context)
    return StageParts(stage: HandlerStage(.beside(runner.traits), context), effects: runner)
}
