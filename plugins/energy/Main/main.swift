import EnergyStage
import PluginKit

PluginProgram.run("energy") { context in StageParts(stage: HandlerStage(EnergyHandler(), context)) }
