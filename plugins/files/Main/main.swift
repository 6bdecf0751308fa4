import FilesStage
import StageKit

// Keeps samples, days, nights and workouts as files that any program can read.
PluginProgram.run(.files)
