import ExecStage
import HandlerKit
import StageKit

PluginProgram.run("exec") { context in
    let runner = try ExecRunner(context)
    return StageParts(handler: HandlerStage(.beside(runner.traits), context), effects: runner)
}
