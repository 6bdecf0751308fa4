import PluginKit
import EnergyStage

PluginProgram.run("energy") { context in StageParts(stage: HandlerStage(EnergyHandler(), context)) }
