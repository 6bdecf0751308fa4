import ConsolidatorStage
import PluginKit

PluginProgram.run(.consolidator)
