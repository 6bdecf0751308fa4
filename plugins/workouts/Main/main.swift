import PluginKit
import WorkoutsStage

PluginProgram.run("workouts") { context in StageParts(stage: HandlerStage(WorkoutsHandler(), context)) }
