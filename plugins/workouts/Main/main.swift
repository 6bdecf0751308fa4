import HandlerKit
import StageKit
import WorkoutsStage

PluginProgram.run("workouts") { context in StageParts(handler: HandlerStage(WorkoutsHandler(), context)) }
