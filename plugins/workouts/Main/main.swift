import HandlerKit
import StageKit
import WorkoutsStage

PluginProgram.run("workouts", WorkoutsHandler())
