import PluginKit
import WorkoutsStage

PluginProgram.run("workouts", WorkoutsHandler())
