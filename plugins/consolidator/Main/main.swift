import ConsolidatorStage
import StageKit

PluginProgram.run(.consolidator)
